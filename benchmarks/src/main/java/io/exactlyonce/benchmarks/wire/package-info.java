/** Distance: wires on this machine that are as slow to answer as a network's. */
@NullMarked
package io.exactlyonce.benchmarks.wire;

import org.jspecify.annotations.NullMarked;
