/** The application under faults. It uses the library as any application does: the annotation and the claim. */
@NullMarked
package io.exactlyonce.chaos.worker;

import org.jspecify.annotations.NullMarked;
