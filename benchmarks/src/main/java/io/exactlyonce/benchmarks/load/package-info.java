/** The load of the machine: the share that other programs use during a turn, and the rule for repeating a turn. */
@NullMarked
package io.exactlyonce.benchmarks.load;

import org.jspecify.annotations.NullMarked;
