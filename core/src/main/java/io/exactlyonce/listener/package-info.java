/**
 * Configures Spring Cloud AWS's containers for annotated methods. Only this package and its sub-packages depend on
 * Spring Cloud AWS.
 */
@NullMarked
package io.exactlyonce.listener;

import org.jspecify.annotations.NullMarked;
