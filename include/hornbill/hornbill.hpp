/// \file
/// All of Hornbill in one include.
#pragma once

#include <hornbill/analysis.hpp>
#include <hornbill/backend/registry.hpp>
#include <hornbill/bp.hpp>
#include <hornbill/circuit.hpp>
#include <hornbill/config.hpp>
#include <hornbill/datalog.hpp>
#include <hornbill/elim.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph.hpp>
#include <hornbill/io.hpp>
#include <hornbill/jtree.hpp>
#include <hornbill/points_to.hpp>
#include <hornbill/tables.hpp>
