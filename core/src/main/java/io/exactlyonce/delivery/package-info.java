/**
 * A delivery: its state, its decisions, and the policies that decide. It uses {@code claim} and {@code renewal}, and
 * depends on neither Spring Cloud AWS nor SQL.
 */
@NullMarked
package io.exactlyonce.delivery;

import org.jspecify.annotations.NullMarked;
