A seed                                                                  SEED    
             3             1             1             1
iza                        2             2             1             0
(4I3)           (4I3)           (1X,I4)             
  1  2  2
  2
   -7
