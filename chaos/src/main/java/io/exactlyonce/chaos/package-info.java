/** The exactly-once starter under fire: workers and servers are killed, paused and cut off, and nothing may happen twice. */
@NullMarked
package io.exactlyonce.chaos;

import org.jspecify.annotations.NullMarked;
