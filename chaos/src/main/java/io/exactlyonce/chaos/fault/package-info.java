/** Faults of workers, servers and wires, drawn from a seed. */
@NullMarked
package io.exactlyonce.chaos.fault;

import org.jspecify.annotations.NullMarked;
