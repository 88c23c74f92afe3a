/* What a program that is linked with libespalier.so has from the environment: prints espalier_describe("config"). */
#include <espalier/describe.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(void) {
  char* text = espalier_describe("{\"what\": \"config\"}");
  printf("AT_SECURE %lu\n%s\n", getauxval(AT_SECURE), text);
  espalier_free(text);
  text = espalier_describe("{\"what\": \"topology\"}");
  printf("%s\n", text);
  espalier_free(text);
  text = espalier_describe("{\"what\": \"tuned\", \"host\": \"MPI\"}");
  printf("%s\n", text);
  espalier_free(text);
}
