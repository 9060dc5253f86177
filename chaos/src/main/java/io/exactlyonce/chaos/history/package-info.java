/** What happened in a run, in one order, and the checker that judges it afterwards. Knows nothing of the engine. */
@NullMarked
package io.exactlyonce.chaos.history;

import org.jspecify.annotations.NullMarked;
