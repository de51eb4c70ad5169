/// \file
/// Elimination: least costs, most probable assignments, partition functions; mini-buckets; DPOP.
#pragma once

#include <hornbill/elim/dpop.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/elim/order.hpp>
#include <hornbill/elim/pseudo_tree.hpp>
