/**
 * Internal: SQS's message to Spring's, with its delivery in a header.
 *
 * <p>This package uses {@code delivery} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.message;

import org.jspecify.annotations.NullMarked;
