/** Wiring: auto-configurations, properties, failure analyses. Nobody imports it. */
@NullMarked
package io.exactlyonce.autoconfigure;

import org.jspecify.annotations.NullMarked;
