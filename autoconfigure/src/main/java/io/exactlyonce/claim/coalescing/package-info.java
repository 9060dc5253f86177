/**
 * Calls of many threads put together, so that they share a store's transactions. Internal; it uses the contract in
 * {@code claim} and nothing else, neither Spring nor JDBC.
 */
@NullMarked
package io.exactlyonce.claim.coalescing;

import org.jspecify.annotations.NullMarked;
