//! Program and plan files, and CSV. // F
