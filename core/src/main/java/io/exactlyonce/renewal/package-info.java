/**
 * Renews visibility timeouts and leases while deliveries are in flight. It uses {@code visibility}, and of {@code
 * claim} the contract.
 */
@NullMarked
package io.exactlyonce.renewal;

import org.jspecify.annotations.NullMarked;
