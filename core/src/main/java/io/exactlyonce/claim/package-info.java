/**
 * Claims on idempotency keys: the contract of their store, and its values. It uses only the API package, and neither
 * Spring nor JDBC.
 */
@NullMarked
package io.exactlyonce.claim;

import org.jspecify.annotations.NullMarked;
