/**
 * Internal: records claims while handlers run in observe mode, and counts the duplicates that enforce mode would
 * prevent. Handlers never wait for these records. The package depends on neither Spring Cloud AWS nor meters.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code fingerprint}, {@code time} and
 * {@code queue}.
 */
@NullMarked
package io.exactlyonce.observed;

import org.jspecify.annotations.NullMarked;
