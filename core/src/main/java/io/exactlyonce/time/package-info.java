/**
 * Internal: the engine's clock and random numbers, which tests can control.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.time;

import org.jspecify.annotations.NullMarked;
