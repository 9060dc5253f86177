package io.exactlyonce.autoconfigure;

import io.exactlyonce.result.ResultSerializer;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Writes and reads results as JSON, with a copy of the application's mapper. The copy never lets stored text choose a
 * class by name, even if the application's mapper does.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    /**
     * Types that {@link #whyUnreadable} has accepted. This check is expensive, because it usually throws an exception
     * and catches it. The set stays small, because an application has few result types.
     */
    private final Set<Type> readable = ConcurrentHashMap.newKeySet();

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public String toJson(Object result, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }

    /**
     * Returns why results of this type can never be read; {@code null} if they can. The check reads an empty JSON
     * object as this type. Most types reject it, but can be read from other JSON. Only an {@link
     * InvalidDefinitionException} means that the type can never be read.
     */
    @Override
    public @Nullable String whyUnreadable(Type type) {
        if (readable.contains(type)) {
            return null;
        }
        try {
            fromJson("{}", type);
        } catch (InvalidDefinitionException unreadable) {
            return unreadable.getOriginalMessage();
        } catch (JacksonException unfit) {
            // This type can be read from JSON of another form.
        }
        readable.add(type);
        return null;
    }
}
