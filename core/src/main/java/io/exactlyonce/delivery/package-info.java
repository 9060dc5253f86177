/**
 * Internal: a delivery and its state, and the policies that decide what happens to its message. Depends on neither
 * Spring Cloud AWS nor SQL.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.transaction}, {@code fingerprint}, {@code
 * renewal}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.delivery;

import org.jspecify.annotations.NullMarked;
