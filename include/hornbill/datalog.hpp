/// \file
/// Datalog rules, and their instances as clauses.
#pragma once

#include <hornbill/datalog/ground.hpp>
#include <hornbill/datalog/program.hpp>
