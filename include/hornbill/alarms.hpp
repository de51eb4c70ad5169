/// \file
/// Alarms of programs: null pointers, freed memory, and rules of your own.
#pragma once

#include <hornbill/alarms/analyse.hpp>
