/// \file
/// Dense tables: combine several and reduce over some of their variables.
#pragma once

#include <hornbill/tables/decode.hpp>
#include <hornbill/tables/reduction.hpp>
#include <hornbill/tables/semiring.hpp>
#include <hornbill/tables/slices.hpp>
#include <hornbill/tables/table_network.hpp>
#include <hornbill/tables/table_values.hpp>
