/**
 * A delivery: its state, what was decided on it, and the policies that decide. It uses {@code claim} and {@code renewal}, and
 * knows neither awspring nor SQL.
 */
@NullMarked
package io.exactlyonce.delivery;

import org.jspecify.annotations.NullMarked;
