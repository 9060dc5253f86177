/**
 * Internal: converts SQS's messages to Spring's messages, each of which carries its delivery in a header.
 *
 * <p>This package uses {@code delivery} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.message;

import org.jspecify.annotations.NullMarked;
