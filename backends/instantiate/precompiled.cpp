// The precompiled header of the other files here is made with this one.
