/**
 * A whole run: starts everything, sends messages, makes faults, waits until the system has drained, and judges the
 * history.
 */
@NullMarked
package io.exactlyonce.chaos.run;

import org.jspecify.annotations.NullMarked;
