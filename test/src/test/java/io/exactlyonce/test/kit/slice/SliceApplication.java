package io.exactlyonce.test.kit.slice;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application as users write it, found by its tests. */
@SpringBootApplication
class SliceApplication {}
