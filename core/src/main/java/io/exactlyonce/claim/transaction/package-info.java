/**
 * Claims within the transactions of the application: what a handler with {@code effects = DATABASE} needs of a store. Uses
 * {@code claim}, and Spring's transactions.
 */
@NullMarked
package io.exactlyonce.claim.transaction;

import org.jspecify.annotations.NullMarked;
