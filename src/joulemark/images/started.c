/* Preloaded into a compiler, so that its start-up work is done only once.
 *
 * LLVM's programs have half a million relocations, and processing them takes longer than compiling
 * most of our sources. Here the program stops when its libraries are loaded and main is about to be
 * called; each command then runs in a fork of it.
 *
 * A command is read from standard input: the size of its strings in bytes and their number, 4 bytes
 * each, then the strings, each terminated by a zero: the folder to run in, and the arguments that
 * follow those the program was started with. The answer, written to standard output, is the 4-byte
 * status of waitpid(2). The program's own output goes to standard error. The server exits at the
 * end of standard input.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int count, char **arguments, char **environment);

static main_function *program_main;

static bool read_whole(void *to, size_t bytes) {
    char *next = to;
    while (bytes > 0) {
        ssize_t got = read(STDIN_FILENO, next, bytes);
        if (got <= 0) {
            return false;
        }
        next += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* In the fork: run the program's main function with the command's arguments. */
static int run(char **own, int own_count, char *strings, uint32_t count) {
    const char *folder = strings;
    char **arguments = calloc((size_t)own_count + count + 1, sizeof *arguments);
    int devnull = open("/dev/null", O_RDONLY);
    if (arguments == NULL || devnull < 0 || chdir(folder) != 0 || dup2(devnull, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        _exit(127);
    }
    int total = 0;
    while (total < own_count) {
        arguments[total] = own[total];
        total++;
    }
    for (uint32_t i = 1; i < count; i++) {
        strings += strlen(strings) + 1;
        arguments[total++] = strings;
    }
    return program_main(total, arguments, environ);
}

static int serve(int count, char **arguments, char **environment) {
    (void)environment;
    unsetenv("LD_PRELOAD"); /* Programs that this one starts must not stop in here. */
    struct {
        uint32_t bytes, strings;
    } header;
    while (read_whole(&header, sizeof header)) {
        char *strings = malloc(header.bytes);
        if (strings == NULL || !read_whole(strings, header.bytes)) {
            break;
        }
        pid_t child = fork();
        if (child == 0) {
            return run(arguments, count, strings, header.strings);
        }
        free(strings);
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child ||
            write(STDOUT_FILENO, &status, sizeof status) != sizeof status) {
            break;
        }
    }
    _exit(0);
}

typedef int start_function(main_function *main, int count, char **arguments, void (*init)(void),
                           void (*fini)(void), void (*loader_fini)(void), void *stack_end);

/* Interposes the C library's function that calls main; the program's entry code calls it. */
start_function __libc_start_main;

int __libc_start_main(main_function *main, int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
    start_function *start;
    /* POSIX allows converting an object pointer to a function pointer; ISO C does not. */
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = main;
    return start(serve, count, arguments, init, fini, loader_fini, stack_end);
}
