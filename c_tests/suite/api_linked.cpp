#include "api.hpp"

dram::Api api() {
  static const dram::Api table = dram::linked();
  return table;
}
