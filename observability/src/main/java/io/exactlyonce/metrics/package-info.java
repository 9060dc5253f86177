/** Meters. The only importer of Micrometer's meters; it observes, and no package but the wiring uses it. */
@NullMarked
package io.exactlyonce.metrics;

import org.jspecify.annotations.NullMarked;
