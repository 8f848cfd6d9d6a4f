//! Which of these segments overlap a given one? // I
