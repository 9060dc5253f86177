/**
 * Internal: the steps of a delivery: claim, admit, handle, record, settle. {@code DeliveryPipeline} describes all
 * steps.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.transaction}, {@code delivery}, {@code
 * renewal}, {@code result}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.delivery.pipeline;

import org.jspecify.annotations.NullMarked;
