/** What properties may be called, and what values they may have. Internal, for the wiring of this module and of stores' modules. */
@NullMarked
package io.exactlyonce.property;

import org.jspecify.annotations.NullMarked;
