/** Distance: wires on this machine that answer as slowly as a network. */
@NullMarked
package io.exactlyonce.benchmarks.wire;

import org.jspecify.annotations.NullMarked;
