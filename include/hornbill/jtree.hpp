/// \file
/// Junction trees: exact marginals.
#pragma once

#include <hornbill/jtree/calibration.hpp>
#include <hornbill/jtree/join_tree.hpp>
