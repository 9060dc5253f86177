/**
 * The events of a run in one order, and the checker that judges them afterwards. This package does not depend on the
 * engine.
 */
@NullMarked
package io.exactlyonce.chaos.history;

import org.jspecify.annotations.NullMarked;
