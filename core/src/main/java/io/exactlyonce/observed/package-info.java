/**
 * Claims beside handlers in observe mode, and counts of prevented duplicates. No handler waits here. It depends on
 * neither Spring Cloud AWS nor meters.
 */
@NullMarked
package io.exactlyonce.observed;

import org.jspecify.annotations.NullMarked;
