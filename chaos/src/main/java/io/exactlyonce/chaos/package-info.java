/**
 * The exactly-once starter under faults: workers and servers are killed, paused and cut off, and no effect may happen
 * twice.
 */
@NullMarked
package io.exactlyonce.chaos;

import org.jspecify.annotations.NullMarked;
