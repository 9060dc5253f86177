/**
 * Group commit: calls of many threads share a store's transactions. Internal; it uses the contract in {@code claim}, the clock
 * and the boundary, and neither Spring nor JDBC.
 */
@NullMarked
package io.exactlyonce.claim.groupcommit;

import org.jspecify.annotations.NullMarked;
