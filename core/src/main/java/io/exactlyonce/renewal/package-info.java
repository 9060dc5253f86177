/**
 * Internal: renews visibility timeouts and leases while deliveries are in flight, and interrupts handlers at their
 * timeout.
 *
 * <p>This package uses {@code claim}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.renewal;

import org.jspecify.annotations.NullMarked;
