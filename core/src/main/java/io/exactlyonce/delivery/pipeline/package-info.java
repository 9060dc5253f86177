/** The steps of a delivery: claim, handle, record, settle. Begin here; it uses {@code delivery}. */
@NullMarked
package io.exactlyonce.delivery.pipeline;

import org.jspecify.annotations.NullMarked;
