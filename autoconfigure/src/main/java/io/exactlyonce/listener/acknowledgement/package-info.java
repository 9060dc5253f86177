/**
 * The end of awspring's pipeline: what is deleted, and the confirmation of it. Internal; it uses {@code delivery.pipeline} and {@code visibility}.
 */
@NullMarked
package io.exactlyonce.listener.acknowledgement;

import org.jspecify.annotations.NullMarked;
