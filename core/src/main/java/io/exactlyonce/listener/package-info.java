/**
 * What configures awspring's containers for annotated methods. With its sub-packages, the only place that knows awspring.
 */
@NullMarked
package io.exactlyonce.listener;

import org.jspecify.annotations.NullMarked;
