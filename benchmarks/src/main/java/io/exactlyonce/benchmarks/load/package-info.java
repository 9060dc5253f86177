/** What the machine does besides: how much of it other programs use during a turn, and the rule to repeat a turn. */
@NullMarked
package io.exactlyonce.benchmarks.load;

import org.jspecify.annotations.NullMarked;
