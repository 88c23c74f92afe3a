from espalier.app import main

main()
