/**
 * Internal: group commit, in which calls of many threads share a store's transactions. Depends on neither Spring nor
 * JDBC.
 *
 * <p>This package uses {@code claim} and {@code time}.
 */
@NullMarked
package io.exactlyonce.claim.groupcommit;

import org.jspecify.annotations.NullMarked;
