/** Actuator for operators: the endpoint {@code exactlyonce}, and the health of claims. */
@NullMarked
package io.exactlyonce.actuate;

import org.jspecify.annotations.NullMarked;
