/** SQS's message to Spring's, with its delivery in a header. Internal; it uses {@code delivery}. */
@NullMarked
package io.exactlyonce.listener.message;

import org.jspecify.annotations.NullMarked;
