/** A whole run: starts everything, sends, has faults happen, waits for the drain, and has the history judged. */
@NullMarked
package io.exactlyonce.chaos.run;

import org.jspecify.annotations.NullMarked;
