/** Meters. The only importer of Micrometer's meters. */
@NullMarked
package io.exactlyonce.metrics;

import org.jspecify.annotations.NullMarked;
