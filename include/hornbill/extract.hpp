/// \file
/// From LLVM bitcode to points-to constraints. Built where LLVM's development package is found.
#pragma once

#include <hornbill/extract/extract.hpp>
