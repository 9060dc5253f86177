/**
 * Internal: wiring, with auto-configurations, properties and failure analyses. It may use every package, and no package uses
 * it.
 */
@NullMarked
package io.exactlyonce.autoconfigure;

import org.jspecify.annotations.NullMarked;
