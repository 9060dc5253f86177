/**
 * The API for applications: the annotation, the handler's claim, operations and exceptions.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce;

import org.jspecify.annotations.NullMarked;
